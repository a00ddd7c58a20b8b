import { InjectionToken } from '@angular/core';
import type { HttpPort } from '../http/HttpPort.js';

/** The port that a feature brings, if one does. */
export const PORT = new InjectionToken<HttpPort | undefined>('HttpPort of canton-rx');
