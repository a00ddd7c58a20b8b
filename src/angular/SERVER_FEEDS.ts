import { InjectionToken } from '@angular/core';

/** Whether feeds are read where pages are rendered. */
export const SERVER_FEEDS = new InjectionToken<boolean>('server feeds of canton-rx');
