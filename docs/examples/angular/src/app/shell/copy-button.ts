import { Component, computed, inject, input, signal } from '@angular/core';
import { LiveAnnouncer } from '@angular/cdk/a11y';

/** Copies a text, such as an id that is shown shortened. */
@Component({
  selector: 'app-copy-button',
  template: `
    <button type="button" class="icon" [attr.aria-label]="name()" [title]="name()" (click)="copy()">
      <svg viewBox="0 0 16 16" aria-hidden="true" [class.is-done]="state() === 'copied'">
        @if (state() === 'copied') {
          <path d="M3 8.5 6.5 12 13 4.5" />
        } @else {
          <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
          <path d="M10.5 3.5a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1" />
        }
      </svg>
    </button>
  `,
  styles: `
    :host {
      display: inline-block;
      vertical-align: middle;
    }
    button {
      display: grid;
      place-items: center;
      width: 24px;
      height: 24px;
      color: var(--muted);
    }
    svg {
      width: 14px;
      fill: none;
      stroke: currentColor;
      stroke-width: 1.4;
    }
    .is-done {
      color: var(--good);
      stroke-width: 2;
    }
    @media (max-width: 760px) {
      button {
        width: 32px;
        height: 32px;
      }
    }
  `,
})
export class CopyButton {
  readonly text = input.required<string>();
  /** What is copied, such as `contract id`. */
  readonly label = input.required<string>();
  readonly #announcer = inject(LiveAnnouncer);
  protected readonly state = signal<'ready' | 'copied' | 'failed'>('ready');
  protected readonly name = computed(() =>
    this.state() === 'failed' ? 'This browser does not allow copying' : `Copy the ${this.label()}`,
  );

  protected async copy(): Promise<void> {
    const isCopied = await navigator.clipboard.writeText(this.text()).then(
      () => true,
      () => false,
    );
    this.state.set(isCopied ? 'copied' : 'failed');
    void this.#announcer.announce(isCopied ? 'Copied' : this.name());
    setTimeout(() => this.state.set('ready'), 1_500);
  }
}
