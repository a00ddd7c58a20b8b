import type { PreparedSubmission } from './PreparedSubmission.js';

/**
 * The bytes of a prepared transaction. A real participant answers a protobuf message; clients have to treat it
 * as opaque, so here it is the JSON of the submission, the same for the same submission.
 */
export function encodePrepared(prepared: PreparedSubmission): string {
  const { command, ...rest } = prepared;
  const { kind, ...content } = command;
  const wire = kind === 'create' ? { CreateCommand: content } : { ExerciseCommand: { ...content, choice: 'Archive' } };
  return Buffer.from(JSON.stringify({ ...rest, command: wire })).toString('base64');
}
