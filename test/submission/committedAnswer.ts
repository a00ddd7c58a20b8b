import { ok } from '../helpers/scripted.js';
import { valueOf } from '../helpers/virtualSubmission.js';
import type { HttpResponse } from '../../src/http/HttpPort.js';

/** The answer to a submission that was committed. */
export const committedAnswer = (offset: number): HttpResponse => ok({ transaction: valueOf(offset) });
