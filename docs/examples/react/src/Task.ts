import { contractType } from 'canton-rx';
import type { ContractOf } from 'canton-rx/contracts';
import * as t from 'io-ts';

export const Task = contractType(
  '#sandbox-tasks:Tasks.Model:Task',
  t.type({ owner: t.string, title: t.string, due: t.string, steps: t.array(t.string) }),
);

/** A task, whether it decodes or not. */
export type AnyTask = ContractOf<{ task: typeof Task }>;
