import {
  afterRenderEffect,
  Component,
  computed,
  type ElementRef,
  inject,
  input,
  signal,
  viewChild,
} from '@angular/core';
import type { ConnectionField } from './connection';
import { Connections } from './connections';

/** The form of a connection. */
@Component({
  selector: 'app-connection-form',
  templateUrl: './connection-form.html',
  styleUrl: '../shell/form.css',
})
export class ConnectionForm {
  /** The field to which the user was led: a new object each time. */
  readonly request = input<{ readonly field?: ConnectionField }>();
  protected readonly connections = inject(Connections);
  protected readonly problem = signal('');
  protected readonly named = computed(() => {
    const parties = this.connections.current()?.parties ?? 'any';
    return parties === 'any' ? '' : parties.join('\n');
  });
  private readonly baseUrl = viewChild.required<ElementRef<HTMLElement>>('baseUrl');
  private readonly token = viewChild.required<ElementRef<HTMLElement>>('token');
  private readonly parties = viewChild.required<ElementRef<HTMLElement>>('parties');

  constructor() {
    afterRenderEffect(() => {
      const field = this.request()?.field;
      const fields = { address: this.baseUrl, token: this.token, parties: this.parties };
      if (field !== undefined) fields[field]().nativeElement.focus();
    });
  }

  protected open(event: Event, baseUrl: string, token: string, parties: string, begin: string): void {
    event.preventDefault();
    if (!isAddress(baseUrl))
      return this.problem.set('An address begins with http:// or https://, and has neither a query nor a password.');
    const named = parties.split(/[\s,]+/).filter((party) => party !== '');
    this.connections.open({
      baseUrl: baseUrl.replace(/\/$/, ''),
      parties: named.length === 0 ? 'any' : named,
      begin: begin === 'end' ? 'end' : 'start',
      ...(token !== '' && { token }),
    });
  }
}

/** Whether a ledger accepts the URL. `localhost:7575` is a URL as well, with the scheme `localhost`. */
const isAddress = (text: string): boolean => /^https?:\/\/[^@?#]+$/.test(text) && URL.canParse(text);
