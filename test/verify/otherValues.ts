import type { Value } from '@canton-network/core-ledger-proto';
import { v } from './messages.js';

/** Every value that differs from this one in one thing, of the same type where it can be. */
export function otherValues({ sum }: Value): readonly Value[] {
  switch (sum.oneofKind) {
    case 'bool':
      return [v.bool(!sum.bool)];
    case 'int64':
      return [v.int(sum.int64 === '7' ? '8' : '7'), v.numeric(sum.int64 === '7' ? '8' : '7')];
    case 'numeric':
      return [v.numeric(`${sum.numeric}1`), v.numeric(`1${sum.numeric.replace('-', '')}`)];
    case 'text':
      return [v.text(`${sum.text}.`)];
    case 'party':
      return [v.party(`${sum.party}.`)];
    case 'contractId':
      return [v.contract(`${sum.contractId}00`)];
    case 'date':
      return [v.date(sum.date + 1)];
    case 'timestamp':
      return [v.time(String(BigInt(sum.timestamp) + 1n))];
    case 'enum':
      return [v.enum(`${sum.enum.constructor}_`)];
    case 'variant': {
      const { constructor, value = v.unit() } = sum.variant;
      return [v.variant(`${constructor}_`, value), ...otherValues(value).map((other) => v.variant(constructor, other))];
    }
    case 'optional': {
      const { value } = sum.optional;
      return value === undefined ? [v.some(v.unit()), v.some(v.none())] : [v.none(), ...otherValues(value).map(v.some)];
    }
    case 'list': {
      const { elements } = sum.list;
      return [v.list(...elements, v.unit()), ...oneOther(elements).map((others) => v.list(...others))];
    }
    case 'textMap': {
      const keys = sum.textMap.entries.map(({ key }) => key);
      return oneOther(sum.textMap.entries.map(({ value = v.unit() }) => value)).map((others) =>
        v.textMap(...others.map((value, index) => [keys[index] ?? 'zzzzz', value] as const)),
      );
    }
    case 'genMap': {
      const keys = sum.genMap.entries.map(({ key = v.unit() }) => key);
      return oneOther(sum.genMap.entries.map(({ value = v.unit() }) => value)).map((others) =>
        v.genMap(...others.map((value, index) => [keys[index] ?? v.unit(), value] as const)),
      );
    }
    case 'record': {
      const entries = sum.record.fields.map(({ label, value = v.unit() }) => [label, value] as const);
      return [
        v.record(Object.fromEntries([...entries, ['zzzzz', v.text('more')]])),
        ...oneOther(entries.map(([, value]) => value)).map((others) =>
          v.record(Object.fromEntries(others.map((value, index) => [entries[index]?.[0] ?? 'zzzzz', value]))),
        ),
      ];
    }
    default:
      return [v.text('no unit')];
  }
}

const oneOther = (values: readonly Value[]): readonly (readonly Value[])[] =>
  values.flatMap((value, index) => otherValues(value).map((other) => values.toSpliced(index, 1, other)));
