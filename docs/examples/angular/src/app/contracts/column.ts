import { shortId } from '../updates/names';
import type { ContractRow } from './contract-row';
import type { FieldKind } from './field-kind';
import { showValue } from './show-value';
import type { Field } from './template-fields';

/** A column of the table. */
export interface Column {
  readonly id: string;
  readonly label: string;
  readonly kind: FieldKind | 'template' | 'contents' | 'place';
  /** Its least width, in pixels. */
  readonly width: number;
  /** Its part of the width that is left; 0 for a column that needs no more. */
  readonly share: number;
  /** What it is sorted by; `undefined` for a value that is absent. */
  readonly value: (row: ContractRow) => unknown;
  readonly show: (row: ContractRow) => string;
}

export const columnsOf = (template: string, fields: readonly Field[]): readonly Column[] =>
  template === ''
    ? [templateColumn, contentsColumn, stakeholdersColumn, placeColumn, createdColumn]
    : [...fields.map(fieldColumn), placeColumn, createdColumn];

// their least widths fit a page of 768 pixels, also where a contract is between two synchronizers
const templateColumn: Column = {
  id: 'template',
  label: 'Template',
  kind: 'template',
  width: 132,
  share: 0.5,
  value: ({ entity, packageName }) => `${entity} ${packageName}`,
  show: ({ template }) => template,
};

const contentsColumn: Column = {
  id: 'contents',
  label: 'Contents',
  kind: 'contents',
  width: 112,
  share: 3,
  value: ({ fields }) => Object.values(fields)[0],
  show: () => '',
};

const stakeholdersColumn: Column = {
  id: 'stakeholders',
  label: 'Stakeholders',
  kind: 'text',
  width: 88,
  share: 1,
  value: ({ stakeholders }) => stakeholders[0],
  show: ({ stakeholders }) => stakeholders.map(shortId).join(', '),
};

const placeColumn: Column = {
  id: 'place',
  label: 'Synchronizer',
  kind: 'place',
  width: 168,
  share: 0,
  value: ({ synchronizers }) => synchronizers.join(' '),
  show: ({ synchronizers }) => synchronizers.map(shortId).join(' → '),
};

const createdColumn: Column = {
  id: 'created',
  label: 'Created (UTC)',
  kind: 'time',
  width: 164,
  share: 0,
  value: ({ createdAt }) => createdAt,
  show: ({ createdAt }) => showValue(createdAt, 'time'),
};

function fieldColumn({ name, kind, fraction, length }: Field): Column {
  const isWide = kind === 'text' || kind === 'json';
  return {
    id: `field:${name}`,
    label: name,
    kind,
    // in steps, so that a column rarely becomes wider while one reads it
    width: Math.max(64, 16 * Math.ceil((Math.max(name.length + 2, length) * 7.8) / 16) + 8),
    share: isWide ? 1 : 0,
    value: ({ fields }) => fields[name] ?? undefined,
    show: ({ fields }) => showValue(fields[name], kind, fraction),
  };
}
