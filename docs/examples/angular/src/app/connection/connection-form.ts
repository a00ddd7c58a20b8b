import { Component, inject, output, signal } from '@angular/core';
import { Connections } from './connections';

/** The form of a connection. */
@Component({
  selector: 'app-connection-form',
  templateUrl: './connection-form.html',
  styleUrl: '../shell/form.css',
})
export class ConnectionForm {
  readonly opened = output();
  protected readonly connections = inject(Connections);
  protected readonly problem = signal('');

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
    this.opened.emit();
  }
}

/** Whether a ledger accepts the URL. `localhost:7575` is a URL as well, with the scheme `localhost`. */
const isAddress = (text: string): boolean => /^https?:\/\/[^@?#]+$/.test(text) && URL.canParse(text);
