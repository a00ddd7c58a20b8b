import type { Packages } from '../ledger/Packages.js';
import type { Creation } from '../submission/effects.js';
import { sha256 } from '../wire/values.js';
import type { TemplateRef, WireCreatedEvent, WireInterfaceView } from '../wire/WireUpdate.js';
import { builtInModel } from './builtIn.js';
import type { SandboxTemplate } from './TemplateBody.js';
import { archiveModel, type ChoiceModel, type InterfaceModel, type TemplateModel } from './TemplateModel.js';

/** The models of the templates of a participant: those that are defined, and for all others built-in ones. */
export class Models {
  /** By package name, module and entity: all versions of a template have the same model. */
  readonly #defined = new Map<string, TemplateModel>();

  constructor(
    readonly templates: readonly SandboxTemplate[],
    private readonly packages: Packages,
  ) {
    for (const template of templates) {
      const entity = entityOf(packages.resolve(template.templateId));
      if (this.#defined.has(entity)) throw new TypeError(`The template ${template.templateId} is defined twice`);
      this.#defined.set(entity, template.model);
      for (const { interfaceId } of template.model.interfaces) packages.resolve(interfaceId, 'interface');
    }
  }

  of(template: TemplateRef): TemplateModel {
    return this.#defined.get(entityOf(template)) ?? builtInModel(template);
  }

  /** Finds the instance of an interface for a template. */
  findInstance(template: TemplateRef, typeId: string): InterfaceModel | undefined {
    return this.of(template).interfaces.find(({ interfaceId }) =>
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
    for (const { templateId } of this.templates) {
      const found = this.findInstance(this.packages.resolve(templateId), typeId)?.findChoice(choice);
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
    const common = {
      interfaceId: this.packages.resolve(interfaceId, 'interface').id,
      implementationPackageId: id.slice(0, id.indexOf(':')),
    };
    try {
      return { ...common, viewStatus: { code: 0, message: '', details: [] }, viewValue: view(argument) };
    } catch (error) {
      // a view may fail, and the transaction is committed nevertheless
      return { ...common, viewStatus: { code: 9, message: String(error), details: [] }, viewValue: null };
    }
  }
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
