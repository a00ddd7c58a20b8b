import { ledgerEffects, type UpdateFormat } from 'canton-rx';
import type { Connection } from '../connection/connection';

/** All effects that the parties see: what is created, exercised, archived, moved and hosted. */
export const formatOf = ({ parties }: Connection): UpdateFormat => ledgerEffects({ parties });
