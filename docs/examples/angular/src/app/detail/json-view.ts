import { Component, computed, input, signal } from '@angular/core';
import { CopyButton } from '../shell/copy-button';
import { jsonParts } from './json-parts';

/** A value as formatted JSON. */
@Component({
  selector: 'app-json-view',
  imports: [CopyButton],
  template: `<small>{{ label() }} <app-copy-button [text]="text()" [label]="label().toLowerCase()" /></small>
    <pre
      tabindex="0"
      [class.is-clamped]="isClamped()"
      [attr.aria-label]="label()"
    >@for (part of parts(); track $index) {<span [class]="part.kind">{{ part.text }}</span>}</pre>
    @if (isLong()) {
      <button type="button" class="link" (click)="isOpen.set(!isOpen())">
        {{ isOpen() ? 'Show less' : 'Show all' }}
      </button>
    }`,
  styles: `
    pre {
      margin: 2px 0 0;
      padding: 8px 10px;
      overflow-x: auto;
      border-radius: 7px;
      background: var(--bg);
      font: 12px/17px var(--mono);
      white-space: pre-wrap;
      overflow-wrap: anywhere;
    }
    .is-clamped {
      max-height: 15rem;
      overflow: hidden;
      mask-image: linear-gradient(#000 80%, transparent);
    }
    small {
      display: block;
      margin-top: 6px;
      color: var(--muted);
      font-size: 12px;
    }
    .name {
      color: var(--muted);
    }
    .text {
      color: var(--accent-text);
    }
    .number {
      color: var(--exercised);
    }
  `,
})
export class JsonView {
  readonly label = input.required<string>();
  readonly value = input.required<unknown>();
  protected readonly text = computed(() => JSON.stringify(this.value(), null, 2));
  /** A value of many lines is shown in part at first. */
  protected readonly isLong = computed(() => this.text().length > 900 || this.text().split('\n').length > 16);
  protected readonly isOpen = signal(false);
  protected readonly isClamped = computed(() => this.isLong() && !this.isOpen());
  protected readonly parts = computed(() => jsonParts(this.value()));
}
