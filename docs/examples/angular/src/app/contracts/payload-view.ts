import { Component, computed, input, signal } from '@angular/core';
import { JsonView } from '../detail/json-view';
import { kindOf } from './field-kind';
import { fractionOf, showValue } from './show-value';

/** The length up to which a value with parts stands in one line. */
const maxInline = 40;

/** The length of a text up to which it is shown in full at first. */
const maxText = 300;

/** The arguments of a contract: a line for each, in full, and JSON for those that have parts. */
@Component({
  selector: 'app-payload-view',
  imports: [JsonView],
  template: `
    <dl>
      @for (field of fields(); track field.name) {
        @if (field.isJson) {
          <dd class="json"><app-json-view [label]="field.name" [value]="field.value" /></dd>
        } @else {
          <dt>{{ field.name }}</dt>
          <dd [title]="field.title" [class.is-absent]="field.value === null">
            @if (field.text.length > maxText && !open().has(field.name)) {
              {{ field.text.slice(0, maxText) }}…
              <button type="button" class="link" (click)="showAll(field.name)">Show all</button>
            } @else {
              {{ field.text }}
            }
            @if (field.id; as id) {
              <small>{{ id }}</small>
            }
          </dd>
        }
      } @empty {
        <dd class="is-absent">It has none.</dd>
      }
    </dl>
  `,
  styleUrl: './payload-view.css',
})
export class PayloadView {
  readonly values = input.required<Readonly<Record<string, unknown>>>();
  protected readonly maxText = maxText;
  protected readonly open = signal<ReadonlySet<string>>(new Set());
  protected readonly fields = computed(() =>
    Object.entries(this.values()).map(([name, value]) => {
      const kind = kindOf(value) ?? 'text';
      const isId = kind === 'contract';
      return {
        name,
        value,
        isJson: kind === 'json' && showValue(value, kind).length > maxInline,
        text: isId ? String(value) : showValue(value, kind, fractionOf(value)),
        title: typeof value === 'string' ? value : '',
        // the start of the fingerprint, to tell parties of one name apart
        id: kind === 'party' ? String(value).replace(/^.*::(1220)?(.{8}).*$/, '$2…') : '',
      };
    }),
  );

  protected showAll(name: string): void {
    this.open.update((open) => new Set([...open, name]));
  }
}
