import type { ClientBase } from 'pg';
import { concatMap, map, type Observable, of } from 'rxjs';
import { isInterfaceType } from '../../codecs/ContractType.js';
import { matchId } from '../../codecs/decodePayload.js';
import type { ContractTypes } from '../../contracts/Contract.js';
import type { Report } from '../../diagnostics/Diagnostic.js';
import { run } from '../connection.js';
import { namesOf, type Row, rowsFrom, toJsonParameter } from './tables.js';
import { type ProjectionSchema, templateColumns } from './tables.js';

/** Where to write, and how to name templates. */
export interface Writing {
  readonly tx: ClientBase;
  readonly names: ProjectionSchema;
  readonly nameTemplate: NameTemplate;
  readonly onReplaced: 'reload' | 'fail';
  readonly onDeselected: 'end' | 'keep';
  readonly report: Report;
}

/** The kind of a payload: the arguments of a template, the view of an interface, or the argument of a choice. */
type PayloadType = 'template' | 'interface' | 'choice';

/** A template, an interface or a choice of a template. The rows of a batch refer to it by its number. */
type TemplateRow = Row<typeof templateColumns> & { readonly number: number };

/** Names templates and interfaces according to the types of a query. */
type NameTemplate = (
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

/**
 * Gives the templates, interfaces and choices that a projection has the names of a query, and adds those of the query, so
 * that readers may use their names before there is a contract.
 */
export const registerTemplates = (
  db: ClientBase,
  names: ProjectionSchema,
  nameTemplate: NameTemplate,
  types: ContractTypes = {},
): Observable<unknown> =>
  run(db, `SELECT payload_type, template_id, choice, package_name FROM ${names.templates}`).pipe(
    concatMap((rows) => {
      const list = new TemplateList(nameTemplate);
      for (const { payload_type, template_id, package_name, choice } of rows as readonly KnownTemplate[])
        list.numberOf(payload_type, template_id, package_name ?? undefined, choice);
      for (const type of Object.values(types))
        list.numberOf(isInterfaceType(type) ? 'interface' : 'template', type.templateId);
      return writeTemplates(db, names, list);
    }),
  );

/** A template, interface or choice in the table. */
interface KnownTemplate {
  readonly payload_type: PayloadType;
  readonly template_id: string;
  readonly choice: string;
  readonly package_name: string | null;
}

/**
 * Inserts new templates, renames others to the names of the list, and emits the keys of all in the order of the list.
 */
export const writeTemplates = (
  db: ClientBase,
  { schema }: ProjectionSchema,
  list: TemplateList,
): Observable<readonly number[]> =>
  list.rows.length === 0
    ? of([])
    : run(db, `SELECT ${schema}.projection_templates_of($1) AS keys`, [toJsonParameter(list.rows)]).pipe(
        map(([row]) => (row?.['keys'] ?? []) as readonly number[]),
      );

/** Returns the functions that write templates and find them by name. */
export const templateFunctions = (names: ProjectionSchema): string => writeFunction(names) + nameFunctions(names);

/** Inserts new templates, renames those whose types now have other names, and returns the keys of all. */
const writeFunction = ({ schema, templates }: ProjectionSchema): string => {
  const isSame = 't.payload_type = n.payload_type AND t.template_id = n.template_id AND t.choice = n.choice';
  // a known package name is kept if neither the query nor the JSON has one
  const isOther = `(t.type_name IS DISTINCT FROM n.type_name
    OR n.package_name IS NOT NULL AND t.package_name IS DISTINCT FROM n.package_name)`;
  const input = rowsFrom('list', { number: 'int', ...templateColumns });
  return `
CREATE OR REPLACE FUNCTION ${schema}.projection_templates_of(list jsonb) RETURNS int[] LANGUAGE plpgsql SET jit = off AS $body$
BEGIN
  IF NOT EXISTS (SELECT FROM ${input} AS n LEFT JOIN ${templates} t ON ${isSame} WHERE t.template_pk IS NULL OR ${isOther}) THEN
    RETURN ARRAY(SELECT t.template_pk FROM ${input} AS n JOIN ${templates} t ON ${isSame} ORDER BY n.number);
  END IF;
  UPDATE ${templates} t SET type_name = n.type_name, package_name = coalesce(n.package_name, t.package_name),
    template_fqn = CASE WHEN n.package_name IS NULL THEN t.template_fqn ELSE n.template_fqn END
    FROM ${input} AS n WHERE ${isSame} AND ${isOther};
  INSERT INTO ${templates} (${namesOf(templateColumns)})
    SELECT ${namesOf(templateColumns)} FROM ${input} AS n WHERE NOT EXISTS (SELECT FROM ${templates} t WHERE ${isSame});
  RETURN ARRAY(SELECT t.template_pk FROM ${input} AS n JOIN ${templates} t ON ${isSame} ORDER BY n.number);
END $body$;`;
};

/**
 * Returns the functions that find the keys of templates, interfaces and choices by name. They return `NULL` for all,
 * and raise an error for a name that is unknown or ambiguous, because an empty result would be misleading. Queries call
 * them once, so they must not make rows expensive for the planner.
 */
const nameFunctions = ({ schema, templates }: ProjectionSchema): string => `
CREATE OR REPLACE FUNCTION ${schema}.projection_find_templates(name text) RETURNS int[] LANGUAGE plpgsql STABLE COST 1 AS $body$
DECLARE
  found_pks int[];
  found_names text[];
BEGIN
  IF coalesce(name, '') = '' THEN
    RETURN NULL;
  END IF;
  SELECT array_agg(t.template_pk) INTO found_pks FROM ${templates} t WHERE t.type_name = name AND t.payload_type <> 'choice';
  IF found_pks IS NOT NULL THEN
    RETURN found_pks;
  END IF;
  SELECT array_agg(t.template_pk), array_agg(DISTINCT t.template_fqn ORDER BY t.template_fqn)
    INTO found_pks, found_names
    FROM ${templates} t
    WHERE t.payload_type <> 'choice' AND CASE
      WHEN left(name, 1) = '#' THEN t.template_fqn = substr(name, 2)
      ELSE name IN (t.template_fqn, t.module || ':' || t.entity, t.entity, t.template_id)
    END;
  PERFORM ${schema}.projection_check_names('template or interface', name, found_names,
    ARRAY(SELECT DISTINCT t.template_fqn FROM ${templates} t WHERE t.payload_type <> 'choice' ORDER BY 1 LIMIT 10));
  RETURN found_pks;
END $body$;
-- never called: its cost keeps the planner from comparing names with each contract
CREATE OR REPLACE FUNCTION ${schema}.projection_no_templates() RETURNS int[] LANGUAGE plpgsql STABLE COST 100 AS $body$
BEGIN
  RETURN NULL;
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_check_names(kind text, name text, found_names text[], known text[])
RETURNS void LANGUAGE plpgsql IMMUTABLE AS $body$
BEGIN
  IF cardinality(found_names) > 1 THEN
    RAISE EXCEPTION 'more than one % is called "%"', kind, name USING
      ERRCODE = 'ambiguous_alias', HINT = 'Use one of: ' || array_to_string(found_names[1:10], ', ');
  ELSIF found_names IS NULL THEN
    RAISE EXCEPTION 'no % is called "%"', kind, name USING
      ERRCODE = 'undefined_object',
      HINT = CASE WHEN cardinality(known) = 0 THEN 'No names are known yet.'
        ELSE 'Known names include: ' || array_to_string(known, ', ') END;
  END IF;
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_find_choices(name text) RETURNS int[] LANGUAGE plpgsql STABLE AS $body$
DECLARE
  found_pks int[];
  found_names text[];
BEGIN
  IF coalesce(name, '') = '' THEN
    RETURN NULL;
  END IF;
  SELECT array_agg(c.template_pk), array_agg(DISTINCT c.fqn ORDER BY c.fqn) INTO found_pks, found_names
    FROM (
      SELECT t.*, coalesce(t.package_name, t.package_id) || ':' || t.module || ':' || t.choice AS fqn
      FROM ${templates} t WHERE t.payload_type = 'choice'
    ) AS c
    WHERE CASE WHEN left(name, 1) = '#' THEN substr(name, 2) ELSE name END IN
      (c.choice, c.module || ':' || c.choice, c.fqn, c.entity || ':' || c.choice,
       c.module || ':' || c.entity || ':' || c.choice, c.template_fqn || ':' || c.choice);
  PERFORM ${schema}.projection_check_names('choice', name, found_names,
    ARRAY(SELECT DISTINCT t.choice FROM ${templates} t WHERE t.payload_type = 'choice' ORDER BY 1 LIMIT 10));
  RETURN found_pks;
END $body$;
`;
