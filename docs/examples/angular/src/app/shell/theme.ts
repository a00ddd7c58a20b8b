import { computed, effect, Injectable, signal } from '@angular/core';

type Choice = 'auto' | 'light' | 'dark';

const key = 'explorer.theme';
const next: Readonly<Record<Choice, Choice>> = { auto: 'light', light: 'dark', dark: 'auto' };

/** The light or dark theme: that of the system, until the user selects one. */
@Injectable({ providedIn: 'root' })
export class Theme {
  readonly #system = matchMedia('(prefers-color-scheme: dark)');
  readonly #isSystemDark = signal(this.#system.matches);
  readonly choice = signal<Choice>(remembered());
  readonly isDark = computed(() => (this.choice() === 'auto' ? this.#isSystemDark() : this.choice() === 'dark'));

  constructor() {
    this.#system.addEventListener('change', ({ matches }) => this.#isSystemDark.set(matches));
    effect(() => {
      const choice = this.choice();
      document.documentElement.style.colorScheme = choice === 'auto' ? 'light dark' : choice;
      localStorage.setItem(key, choice);
    });
  }

  toggle(): void {
    this.choice.update((choice) => next[choice]);
  }
}

function remembered(): Choice {
  const stored = localStorage.getItem(key);
  return stored === 'light' || stored === 'dark' ? stored : 'auto';
}
