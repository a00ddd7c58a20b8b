import { Component, computed, input } from '@angular/core';
import { CopyButton } from '../shell/copy-button';
import { templateName } from '../updates/names';

/** The name of a template, which unfolds to its id with the hash of the package. */
@Component({
  selector: 'app-template-name',
  imports: [CopyButton],
  template: `
    <details>
      <summary title="The id of the template, with that of its package">{{ name() }}</summary>
      <code>{{ templateId() }}</code>
      <app-copy-button [text]="templateId()" label="template id" />
    </details>
  `,
  styles: `
    :host {
      display: block;
      font-size: 13px;
      overflow-wrap: anywhere;
    }
    summary {
      cursor: pointer;
    }
    code {
      color: var(--muted);
      font: 12px/18px var(--mono);
    }
  `,
})
export class TemplateName {
  readonly templateId = input.required<string>();
  readonly packageName = input.required<string>();
  protected readonly name = computed(() => templateName(this.templateId(), this.packageName()));
}
