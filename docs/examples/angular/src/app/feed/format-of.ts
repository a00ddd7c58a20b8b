import { ledgerEffects, type UpdateFormat } from 'canton-rx';
import type { Connection } from '../connection/connection';

/** All effects that the parties see: creations, exercises, archivals, reassignments and topology changes. */
export const formatOf = ({ parties }: Connection): UpdateFormat => ledgerEffects({ parties });
