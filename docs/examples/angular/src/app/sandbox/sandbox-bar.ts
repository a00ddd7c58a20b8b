import { Component, inject, signal } from '@angular/core';
import { SandboxControl } from './sandbox-control';

/** The controls of a sandbox. */
@Component({
  selector: 'app-sandbox-bar',
  template: `
    <b>Sandbox</b>
    <button
      type="button"
      class="more"
      aria-controls="sandbox-controls"
      [attr.aria-expanded]="isOpen()"
      (click)="isOpen.set(!isOpen())"
    >
      {{ isOpen() ? 'Hide the controls' : 'Controls' }}
    </button>
    <div id="sandbox-controls" class="controls" [class.is-open]="isOpen()">
      <label>
        Traffic
        <select #rate [disabled]="control.traffic() === undefined" (change)="setTraffic(rate)">
          @if (control.traffic() === undefined) {
            <option value="" selected>…</option>
          }
          @for (perSecond of rates; track perSecond) {
            <option [value]="perSecond" [selected]="perSecond === control.traffic()">{{ perSecond }}/s</option>
          }
        </select>
      </label>
      <button type="button" [disabled]="isBusy()" (click)="run(() => control.generate(1000))">Add 1,000</button>
      <button type="button" [disabled]="isBusy()" (click)="run(() => control.generate(100000))">Add 100,000</button>
      <button type="button" [disabled]="isBusy()" (click)="run(() => control.takeDown(6000))">
        Stop the ledger for 6 s
      </button>
      <button
        type="button"
        [attr.aria-pressed]="control.willLose()"
        [disabled]="isBusy() || control.willLose()"
        (click)="run(() => control.loseNextAnswer())"
      >
        {{ control.willLose() ? 'Will lose the next answer' : 'Lose the next answer' }}
      </button>
    </div>
    <output>{{ problem() }}</output>
  `,
  styleUrl: './sandbox-bar.css',
  host: { role: 'region', 'aria-label': 'Sandbox' },
})
export class SandboxBar {
  protected readonly control = inject(SandboxControl);
  protected readonly rates = [0, 1, 5, 20, 100];
  /** Whether a narrow screen shows the controls. */
  protected readonly isOpen = signal(false);
  protected readonly isBusy = signal(false);
  protected readonly problem = signal('');

  constructor() {
    void this.run(() => this.control.setTraffic());
  }

  protected async setTraffic(select: HTMLSelectElement): Promise<void> {
    await this.run(() => this.control.setTraffic(Number(select.value)));
    // shows the current value, which differs from the selected one if setting it failed
    select.value = String(this.control.traffic());
  }

  protected async run(command: () => Promise<void>): Promise<void> {
    this.isBusy.set(true);
    this.problem.set('');
    try {
      await command();
    } catch (error) {
      this.problem.set(error instanceof Error ? error.message : String(error));
    } finally {
      this.isBusy.set(false);
    }
  }
}
