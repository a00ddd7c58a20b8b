import { isInterfaceType } from '../../codecs/ContractType.js';
import { matchId } from '../../codecs/decodePayload.js';
import type { ContractTypes } from '../../contracts/Contract.js';

/** What a payload is: the arguments of a template, the view of an interface, or the argument of a choice. */
type PayloadType = 'template' | 'interface' | 'choice';

/** A template, an interface or a choice of a template, as a row. */
interface TemplateRow {
  /** The number by which the rows of a batch refer to it. */
  readonly number: number;
  readonly payload_type: PayloadType;
  readonly template_id: string;
  /** `package-name:Module:Entity`, or with the package ID if the name is not known. */
  readonly template_fqn: string;
  readonly module: string;
  readonly entity: string;
  /** Empty for templates and interfaces. */
  readonly choice: string;
  readonly package_name: string | undefined;
  readonly package_id: string | undefined;
  readonly type_name: string | undefined;
}

/** Names templates and interfaces according to the types of a query. */
export type NameTemplate = (
  payloadType: PayloadType,
  templateId: string,
  packageName?: string,
) => Omit<TemplateRow, 'number' | 'choice'>;

/**
 * The templates, interfaces and choices of the rows of a batch, each once, so that rows need not repeat their long IDs.
 */
export class TemplateList {
  readonly #rows = new Map<string, TemplateRow>();

  constructor(private readonly nameTemplate: NameTemplate) {}

  /** The complete list. */
  get rows(): readonly TemplateRow[] {
    return [...this.#rows.values()];
  }

  /** Returns the number by which rows refer to a template, interface or choice. */
  numberOf(payloadType: PayloadType, templateId: string, packageName?: string, choice = ''): number {
    const key = `${payloadType} ${templateId}:${choice}`;
    const known = this.#rows.get(key);
    if (known !== undefined) return known.number;
    const number = this.#rows.size;
    this.#rows.set(key, { number, choice, ...this.nameTemplate(payloadType, templateId, packageName) });
    return number;
  }
}

/** Returns the function that names templates and interfaces according to the types of a query. */
export function nameTemplates(types: ContractTypes = {}): NameTemplate {
  const kinds = Object.entries(types).map(([name, type]) => ({
    name,
    isInterface: isInterfaceType(type),
    packageName: packageNameIn(type.templateId),
    matches: matchId(type.templateId),
  }));
  return (payloadType, templateId, packageName = packageNameIn(templateId)) => {
    const kind = kinds.find(
      ({ isInterface, matches }) => isInterface === (payloadType === 'interface') && matches(templateId, packageName),
    );
    const [packagePart = '', module = '', entity = ''] = templateId.split(':');
    const package_id = packagePart.startsWith('#') ? undefined : packagePart;
    // the JSON of the participant has no package name for interfaces
    const package_name = packageName ?? kind?.packageName;
    const names = {
      payload_type: payloadType,
      template_id: templateId,
      template_fqn: `${package_name ?? packagePart}:${module}:${entity}`,
      module,
      entity,
      package_name,
      package_id,
    };
    return { ...names, type_name: kinds.length === 0 ? `#${names.template_fqn}` : kind?.name };
  };
}

const packageNameIn = (templateId: string): string | undefined =>
  templateId.startsWith('#') ? templateId.slice(1, templateId.indexOf(':')) : undefined;

/** A template, interface or choice that a projection has, regardless of its name. */
export type KnownTemplate = Pick<TemplateRow, 'payload_type' | 'template_id' | 'choice'> & {
  readonly package_name: string | null;
};

/**
 * Returns the templates, interfaces and choices that a projection has, under the names of a query, and those of the
 * query, so that readers may use their names before there is a contract.
 */
export function listTemplates(
  nameTemplate: NameTemplate,
  known: readonly KnownTemplate[],
  types: ContractTypes = {},
): TemplateList {
  const list = new TemplateList(nameTemplate);
  for (const { payload_type, template_id, package_name, choice } of known) {
    list.numberOf(payload_type, template_id, package_name ?? undefined, choice);
  }
  for (const type of Object.values(types)) {
    list.numberOf(isInterfaceType(type) ? 'interface' : 'template', type.templateId);
  }
  return list;
}
