import { BadRequestException } from '@nestjs/common';
import { ofTemplate, ofVariant, onSynchronizer, toEvents, type Update } from 'canton-rx';
import { concatMap, identity, map, of, take, type MonoTypeOperatorFunction } from 'rxjs';
import type { UpdatesQuery } from './updates-query.js';

type Select = MonoTypeOperatorFunction<Update>;

/** All updates except checkpoints, whose offsets the heartbeats have. */
const updates = ['Transaction', 'Reassignment', 'TopologyTransaction', 'UnknownUpdate'] as const;

/** Passes the updates that a client requested. */
export function selected({ variant = [...updates], synchronizer, template }: UpdatesQuery): Select {
  const ofThese: Select = ofVariant(...variant);
  const onThose: Select = synchronizer === undefined ? identity : onSynchronizer(...synchronizer);
  const having: Select = template === undefined ? identity : withTemplate(template);
  return (update$) => update$.pipe(ofThese, onThose, having);
}

/** Passes the updates that have an event of one of the templates. */
function withTemplate(templates: readonly [string, ...string[]]): Select {
  const ofThese = templatesOf(templates);
  return concatMap((update) =>
    of(update).pipe(
      toEvents(),
      ofThese,
      take(1),
      map(() => update),
    ),
  );
}

function templatesOf(templates: readonly [string, ...string[]]): ReturnType<typeof ofTemplate> {
  try {
    return ofTemplate(...templates);
  } catch {
    throw new BadRequestException('a template is written Module:Entity or #package-name:Module:Entity');
  }
}
