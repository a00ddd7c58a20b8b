import { InjectionToken } from '@angular/core';
import type { HttpPort } from '../http/HttpPort.js';

/** The port that a feature brings. */
export const PORT = new InjectionToken<HttpPort>('HttpPort of canton-rx');
