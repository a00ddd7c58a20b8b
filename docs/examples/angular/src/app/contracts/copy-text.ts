import { Component, input, signal } from '@angular/core';

/** Copies a text, and says so. */
@Component({
  selector: 'app-copy-text',
  template: `<button type="button" class="link" [attr.aria-label]="'Copy ' + what()" (click)="copy()">
    {{ said() }}
  </button>`,
  styles: `
    button {
      font: inherit;
      font-size: 12px;
      line-height: 18px;
    }
  `,
})
export class CopyText {
  readonly text = input.required<string>();
  /** What it is, for those who cannot see where the button stands. */
  readonly what = input.required<string>();
  protected readonly said = signal('Copy');

  protected async copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(this.text());
      this.said.set('Copied');
    } catch {
      this.said.set('Not allowed');
    }
    setTimeout(() => this.said.set('Copy'), 1_500);
  }
}
