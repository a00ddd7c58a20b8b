import { contractType } from 'canton-rx';
import * as t from 'io-ts';

export const Task = contractType(
  '#sandbox-tasks:Tasks.Model:Task',
  t.type({ owner: t.string, title: t.string, due: t.string, steps: t.array(t.string) }),
);
