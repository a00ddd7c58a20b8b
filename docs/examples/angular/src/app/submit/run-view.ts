import { DecimalPipe } from '@angular/common';
import { Component, inject, input } from '@angular/core';
import { Panels } from '../shell/panels';
import { Troubles } from '../status/troubles';
import type { Run } from './run';

/** The steps of a submission. */
@Component({
  selector: 'app-run-view',
  imports: [DecimalPipe],
  template: `
    <div class="head">
      <b>{{ run().title }}</b>
      <span class="state" [attr.data-state]="run().outcome?.kind ?? 'running'">{{
        run().outcome?.kind ?? 'running'
      }}</span>
    </div>
    <ol>
      @for (step of run().steps; track $index) {
        <li [class.trouble]="step.isTrouble">
          <span>{{ step.label }}</span> <small>{{ step.note }}</small> <time>{{ step.afterMs | number }} ms</time>
        </li>
      }
      @if (run().outcome; as outcome) {
        <li class="end" [attr.data-state]="outcome.kind">
          <span>{{ outcome.text }}</span>
          @if (outcome.reason; as reason) {
            <small class="reason">{{ reason }}</small>
          }
          @if (outcome.offset; as offset) {
            <button type="button" class="link" (click)="panels.push({ kind: 'update', offset })">Show</button>
          }
        </li>
      } @else {
        <li class="waiting">
          <span>{{ run().steps.at(-1)?.next ?? 'Preparing…' }}</span>
          @if (isDown()) {
            <small>The ledger does not answer.</small>
          }
        </li>
      }
    </ol>
  `,
  styleUrl: './run-view.css',
  host: { role: 'log', '[attr.aria-label]': 'run().title' },
})
export class RunView {
  readonly run = input.required<Run>();
  protected readonly isDown = inject(Troubles).isDown;
  protected readonly panels = inject(Panels);
}
