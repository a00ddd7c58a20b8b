import { create, isLedgerError } from 'canton-rx';
import { type SubmitOutcome, useContracts, useSubmit } from 'canton-rx/react';
import { type FormEvent, useState } from 'react';
import { sentenceOf } from './sentence';
import { Task } from './Task';

export function NewTask({ party }: { party: string }) {
  const [title, setTitle] = useState('');
  const { submit, retry, pending, outcome } = useSubmit({
    awaits: useContracts({ types: { task: Task } }), // the view of the table: "Created" is shown with the row
  });
  const onSubmit = async (event: FormEvent) => {
    event.preventDefault();
    const due = new Date().toISOString().slice(0, 10);
    const command = create(Task, { owner: party, title, due, steps: [] });
    const submitted = await submit({ actAs: [party], userId: 'tasks', commands: [command] });
    if (submitted?._tag === 'Committed') setTitle('');
  };
  return (
    <form onSubmit={onSubmit}>
      <label>
        New task <input required value={title} onChange={(event) => setTitle(event.target.value)} />
      </label>
      <button disabled={pending}>Create</button>
      <output>
        {pending && 'Submitting'}
        {outcome && textOf(outcome)}
      </output>
      {outcome && isUnknown(outcome) && (
        <button type="button" onClick={retry}>
          Find out
        </button>
      )}
    </form>
  );
}

/** The task may have been created. `retry` finds out, and cannot create it twice. */
const isUnknown = (outcome: SubmitOutcome) =>
  outcome._tag === 'Failed' && isLedgerError(outcome.error, 'OutcomeUnknownError');

const textOf = (outcome: SubmitOutcome) =>
  outcome._tag === 'Committed' ? `Created at offset ${outcome.transaction.offset}` : sentenceOf(outcome.error);
