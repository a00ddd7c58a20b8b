import { Component, ElementRef, inject } from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import { injectLedger } from 'canton-rx/angular';
import { devtoolsPanel } from 'canton-rx/devtools';

/** What the client of the ledger does from now on: feeds and views, submissions, errors. */
@Component({
  selector: 'app-activity-panel',
  template: '',
  styles: ':host { display: block; overflow-x: auto; }',
})
export class ActivityPanel {
  constructor() {
    const { nativeElement } = inject<ElementRef<HTMLElement>>(ElementRef);
    devtoolsPanel(nativeElement, injectLedger()).pipe(takeUntilDestroyed()).subscribe();
  }
}
