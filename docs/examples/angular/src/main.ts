import { provideZonelessChangeDetection } from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { App } from './app/app';
import { SETTINGS } from './app/connection/settings';
import { readSettings } from './app/connection/read-settings';

void readSettings().then((settings) =>
  bootstrapApplication(App, {
    providers: [provideZonelessChangeDetection(), { provide: SETTINGS, useValue: settings }],
  }),
);
