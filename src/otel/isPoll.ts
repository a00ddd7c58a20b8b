import type { Call } from '../http/exchange.js';

/** Whether updates are asked for. */
export const isPoll = ({ path }: Pick<Call, 'path'>): boolean => path === '/v2/updates/flats' || path === '/v2/updates';
