import { computeView, packageOf, type Packages } from '../ledger/Packages.js';
import { compareVersions } from '../ledger/PackageVersions.js';
import type { Creation } from '../submission/effects.js';
import { sha256 } from '../wire/values.js';
import { type TemplateRef, type WireCreatedEvent, type WireInterfaceView, stakeholdersOf } from '../wire/WireUpdate.js';
import { checkRequired } from './checkRequired.js';
import type { SandboxTemplate } from './TemplateBody.js';
import { archiveModel, type ChoiceModel, type InterfaceModel, type TemplateModel } from './TemplateModel.js';
import { isRecord } from '../../codecs/internal/Codec.js';
import { findTemplateType } from '../prepared/types.js';

/** The models of the templates of a participant: those that are defined, and for all others built-in ones. */
export class Models {
  /** By package name, module and entity: the versions in ascending order. */
  readonly #defined = new Map<string, readonly Definition[]>();

  constructor(
    templates: readonly SandboxTemplate[],
    private readonly packages: Packages,
  ) {
    this.define(templates);
  }

  /** The templates that are defined, in all versions. */
  get templates(): readonly SandboxTemplate[] {
    return [...this.#defined.values()].flat().map(({ template }) => template);
  }

  /** Defines templates. Returns the ids of their packages, in the same order. */
  define(templates: readonly SandboxTemplate[]): readonly string[] {
    const instances = [...this.templates, ...templates].flatMap(({ interfaces }) => interfaces);
    for (const { templateId, interfaces } of templates) checkRequired(templateId, interfaces, instances);
    const ascending = templates.toSorted((one, other) => compareVersions(one.packageVersion, other.packageVersion));
    const ids = new Map(ascending.map((template) => [template, this.add(template)]));
    return templates.map((template) => ids.get(template) ?? '');
  }

  private add(template: SandboxTemplate): string {
    const { templateId, packageVersion } = template;
    const ref = this.packages.addTemplate(templateId, packageVersion);
    const known = (this.#defined.get(entityOf(ref)) ?? []).map((definition) => definition.template);
    if (known.some((other) => compareVersions(other.packageVersion, packageVersion) === 0))
      throw new TypeError(`The template ${templateId} is defined twice in version ${packageVersion}`);
    this.#defined.set(entityOf(ref), definitionsOf([...known, template]));
    const isLater = this.packages.versions.of(ref.packageName)[0]?.version !== packageVersion;
    for (const { interfaceId, view } of this.of(ref).interfaces) {
      const { id } = this.packages.resolve(interfaceId, 'interface');
      if (isLater) this.packages.giveInterface(ref, id, view);
    }
    return packageOf(ref.id);
  }

  /** The model of a version of a template: that of the last definition up to this version. */
  of(template: TemplateRef): TemplateModel {
    const definitions = this.#defined.get(entityOf(template)) ?? [];
    const version = this.packages.versions.find(packageOf(template.id));
    const index = definitions.findLastIndex(
      (definition) => version !== undefined && compareVersions(definition.template.packageVersion, version) <= 0,
    );
    // a version that is not known is as the newest one
    return definitions.at(index)?.model ?? builtInModel(template);
  }

  /** Finds the instance of an interface for a template. */
  findInstance(template: TemplateRef, typeId: string): InterfaceModel | undefined {
    return this.instanceIn(this.of(template), typeId);
  }

  private instanceIn({ interfaces }: TemplateModel, typeId: string): InterfaceModel | undefined {
    return interfaces.find(({ interfaceId }) =>
      this.packages.matches(typeId, this.packages.resolve(interfaceId, 'interface').id),
    );
  }

  /** Finds a choice of a template, by the id of the template or of an interface that it implements. */
  findChoice(template: TemplateRef, typeId: string, choice: string): ChoiceModel | undefined {
    if (choice === 'Archive') return archiveModel;
    const instance = this.findInstance(template, typeId);
    return (instance ?? this.of(template)).findChoice(choice);
  }

  /** Finds a choice of an interface in any template that implements it: the types of its argument are the same in all. */
  findInterfaceChoice(typeId: string, choice: string): ChoiceModel | undefined {
    if (choice === 'Archive') return archiveModel;
    for (const { model } of [...this.#defined.values()].flat()) {
      const found = this.instanceIn(model, typeId)?.findChoice(choice);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The key of a contract; `undefined` if its template has none. */
  keyOf(template: TemplateRef, createArgument: unknown): ContractKey | undefined {
    const { key: keyIn } = this.of(template);
    if (keyIn === undefined) return undefined;
    const key = keyIn(createArgument);
    return { key, hash: this.hashOf(template, key) };
  }

  /** The hash of a key of a template. Equal keys have equal hashes, whatever the order of their fields. */
  hashOf(template: TemplateRef, key: unknown): string {
    return Buffer.from(sha256('key', entityOf(template), canonical(key)), 'hex').toString('base64');
  }

  /** The fields of a created event that follow from its arguments. */
  derivedFields({ template, createArgument }: Pick<Creation, 'template' | 'createArgument'>): DerivedFields {
    const key = this.keyOf(template, createArgument);
    return {
      interfaceViews: this.of(template).interfaces.map((instance) => this.viewOf(instance, template, createArgument)),
      ...(key && { contractKey: key.key, contractKeyHash: key.hash }),
    };
  }

  private viewOf({ interfaceId, view }: InterfaceModel, { id }: TemplateRef, argument: unknown): WireInterfaceView {
    return {
      interfaceId: this.packages.resolve(interfaceId, 'interface').id,
      implementationPackageId: packageOf(id),
      ...computeView(view, argument),
    };
  }
}

/** A template in a version of its package. */
interface Definition {
  readonly template: SandboxTemplate;
  readonly model: TemplateModel;
}

/** The versions of a template in ascending order. Each has the fields that it and earlier ones add. */
function definitionsOf(templates: readonly SandboxTemplate[]): readonly Definition[] {
  const ascending = templates.toSorted((one, other) => compareVersions(one.packageVersion, other.packageVersion));
  return ascending.map((template, index) => {
    const fieldsIn = (versions: readonly SandboxTemplate[]) => versions.flatMap(({ newFields }) => newFields);
    const model = template.modelFor(fieldsIn(ascending.slice(0, index + 1)));
    return { template, model: { ...model, laterFields: fieldsIn(ascending.slice(index + 1)) } };
  });
}

/** The key of a contract, and its hash in base64. */
interface ContractKey {
  readonly key: unknown;
  readonly hash: string;
}

type DerivedFields = Pick<WireCreatedEvent, 'interfaceViews'> &
  Partial<Pick<WireCreatedEvent, 'contractKey' | 'contractKeyHash'>>;

const entityOf = ({ id, packageName }: TemplateRef): string => packageName + id.slice(id.indexOf(':'));

/** Writes JSON with the fields of records in alphabetical order. */
function canonical(json: unknown): string {
  if (Array.isArray(json)) return `[${json.map(canonical).join(',')}]`;
  if (typeof json !== 'object' || json === null) return JSON.stringify(json ?? null);
  const entries = Object.entries(json).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([name, value]) => `${JSON.stringify(name)}:${canonical(value)}`).join(',')}}`;
}

/**
 * How the contracts of templates behave that are not defined: those of the sandbox have the party of their field `owner`
 * or `seller` as their signatory, and those with an owner can be touched and transferred. All parties that authorize the
 * creation of a contract of another template are its signatories.
 */
function builtInModel(template: TemplateRef): TemplateModel {
  const { fields, observers = [] } = findTemplateType(template);
  const signatories = ['owner', 'seller'].filter((label) => fields !== undefined && label in fields);
  const choices: Readonly<Record<string, ChoiceModel>> =
    fields !== undefined && 'owner' in fields ? { Touch: touch, Transfer: transfer } : {};
  return {
    ...(fields && { fields }),
    check: () => undefined,
    describe: (createArgument, authority) => {
      const partyAt = (label: string): readonly string[] => {
        const value = isRecord(createArgument) ? createArgument[label] : undefined;
        return typeof value === 'string' ? [value] : [];
      };
      const named = signatories.flatMap(partyAt);
      return {
        signatories: named.length === 0 ? authority : named,
        observers: observers.flatMap(partyAt),
        isValid: true,
      };
    },
    interfaces: [],
    findChoice: (name) => (Object.hasOwn(choices, name) ? choices[name] : undefined),
  };
}

/** Any stakeholder may exercise the choice. */
const anyStakeholder: ChoiceModel['controllers'] = (contract, _argument, authority) => {
  const acting = stakeholdersOf(contract).filter((party) => authority.includes(party));
  return acting.length === 0 ? contract.signatories : acting;
};

const touch: ChoiceModel = {
  isConsuming: false,
  fields: {},
  check: () => undefined,
  controllers: anyStakeholder,
  exercise: () => '42',
};

/** Replaces a contract by one with another owner as its observer. The signatories stay, because they have authorized it. */
const transfer: ChoiceModel = {
  isConsuming: true,
  fields: { newOwner: 'party' },
  check: () => undefined,
  controllers: anyStakeholder,
  exercise: ({ template, createArgument, signatories }, choiceArgument, ledger) => {
    const newOwner = isRecord(choiceArgument) ? choiceArgument['newOwner'] : undefined;
    const successor: unknown = { ...Object(createArgument), owner: newOwner };
    const observers = typeof newOwner === 'string' ? [newOwner] : [];
    return ledger.createFor(template, successor, { signatories, observers });
  },
};
