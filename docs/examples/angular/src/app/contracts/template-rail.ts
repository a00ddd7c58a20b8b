import { DecimalPipe } from '@angular/common';
import { Component, inject } from '@angular/core';
import { ContractFilters } from './contract-filters';
import { ContractList } from './contract-list';

/** The templates and how many contracts they have. Each has columns of its own. */
@Component({
  selector: 'app-template-rail',
  imports: [DecimalPipe],
  template: `
    <fieldset>
      <legend>Templates</legend>
      <label>
        <input type="radio" name="template" [checked]="filters.template() === ''" (change)="filters.template.set('')" />
        <b>All</b>
        <span>{{ list.isKnown() ? (list.count() | number) : '–' }}</span>
      </label>
      @for (item of list.templates(); track item.template) {
        <label [title]="item.template" [class.is-none]="item.count === 0">
          <input
            type="radio"
            name="template"
            [checked]="filters.template() === item.template"
            (change)="filters.template.set(item.template)"
          />
          <b>{{ item.entity }}</b>
          <span>{{ list.isKnown() ? (item.count | number) : '–' }}</span>
          <small>{{ item.packageName }}</small>
        </label>
      }
    </fieldset>
  `,
  styleUrl: './template-rail.css',
})
export class TemplateRail {
  protected readonly filters = inject(ContractFilters);
  protected readonly list = inject(ContractList);
}
