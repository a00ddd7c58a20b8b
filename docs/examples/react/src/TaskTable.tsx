import { useVirtualizer } from '@tanstack/react-virtual';
import type { ContractsStatus } from 'canton-rx/react';
import { useRef } from 'react';
import type { AnyTask } from './Task';

interface Props {
  readonly status: ContractsStatus['status'];
  readonly tasks: readonly AnyTask[];
  readonly isFiltered: boolean;
}

/** The tasks. Only the visible rows, and a few around them, are in the page: there may be ten thousand. */
export function TaskTable({ status, tasks, isFiltered }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: tasks.length,
    getScrollElement: () => scroller.current,
    getItemKey: (index) => tasks[index]?.contractId ?? index,
    estimateSize: () => 36, // the height of a row in style.css
    overscan: 10,
  });
  const rows = virtualizer.getVirtualItems();
  const above = rows.at(0)?.start ?? 0;
  const below = virtualizer.getTotalSize() - (rows.at(-1)?.end ?? 0);
  return (
    <>
      <p id="count" role="status">
        {tasks.length.toLocaleString('en')} {tasks.length === 1 ? 'task' : 'tasks'}
      </p>
      <div className="scroller" ref={scroller} tabIndex={0} role="region" aria-label="Tasks, the newest first">
        <table className={status} aria-describedby="count" aria-rowcount={tasks.length + 1}>
          <thead>
            <tr aria-rowindex={1}>
              <th>Title</th>
              <th>Due</th>
              <th>Owner</th>
            </tr>
          </thead>
          <tbody>
            {above > 0 && <tr aria-hidden style={{ height: above }} />}
            {rows.map(({ index, key }) => (
              <TaskRow key={key} task={tasks[index]} index={index} />
            ))}
            {below > 0 && <tr aria-hidden style={{ height: below }} />}
          </tbody>
        </table>
        {tasks.length === 0 && (
          <p className="empty">{isFiltered ? 'No task matches.' : 'No tasks yet. New ones appear here.'}</p>
        )}
      </div>
    </>
  );
}

function TaskRow({ task, index }: { task: AnyTask | undefined; index: number }) {
  if (task === undefined) return null;
  return (
    <tr className="task" aria-rowindex={index + 2}>
      {task._tag === 'Contract' ? (
        <>
          <td title={task.payload.title}>{task.payload.title}</td>
          <td>{task.payload.due}</td>
          <td title={task.payload.owner}>{task.payload.owner.split('::')[0]}</td>
        </>
      ) : (
        <td colSpan={3}>Does not decode: {task.problems[0]?.path}</td>
      )}
    </tr>
  );
}
