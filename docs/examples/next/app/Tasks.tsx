'use client';

import { isLedgerError } from 'canton-rx';
import { useContracts } from 'canton-rx/react';
import { Task } from '../lib/Task';

// all components with this query share one view
const query = { types: { task: Task } };

/** The number of tasks. With `suspense`, the HTML of the server has the fallback of the `Suspense` around it. */
export function Count() {
  const { contracts } = useContracts(query, { suspense: true });
  return <p>{contracts.length === 1 ? '1 task' : `${contracts.length} tasks`}</p>;
}

/** A live table. The HTML of the server has its status `'loading'`. */
export function Tasks() {
  const { status, contracts, error, connection, reload } = useContracts(query, {
    compare: (a, b) => b.offset - a.offset, // last created or moved first
  });
  if (status === 'error')
    return (
      <p role="alert">
        {isLedgerError(error) ? error.summary : 'That did not work.'} <button onClick={reload}>Try again</button>
      </p>
    );
  if (status === 'loading') return <p>Loading</p>;
  const isEmpty = contracts.length === 0;
  return (
    <>
      {connection?.status === 'retrying' && <p role="alert">{connection.cause.summary}</p>}
      {isEmpty && <p>No tasks yet. New ones appear here.</p>}
      <table className={status} hidden={isEmpty}>
        <thead>
          <tr>
            <th>Title</th>
            <th>Due</th>
          </tr>
        </thead>
        <tbody>
          {contracts.map((task) => (
            <tr key={task.contractId}>
              <td>{task.payload?.title ?? 'Does not decode'}</td>
              <td>{task.payload?.due}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
