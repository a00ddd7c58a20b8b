import { isRecord } from '../../codecs/internal/Codec.js';

/** The values of fields of commands that mean the same as no field (observed on 3.5.10). Other lists may not be `null`. */
const absent: Readonly<Record<string, unknown>> = {
  workflowId: '',
  submissionId: '',
  readAs: null,
  disclosedContracts: null,
};

/** Leaves out the fields of commands that a participant takes for absent. */
export const withoutAbsent = (commands: unknown): unknown =>
  isRecord(commands)
    ? Object.fromEntries(
        Object.entries(commands).filter(([key, value]) => !(Object.hasOwn(absent, key) && absent[key] === value)),
      )
    : commands;
