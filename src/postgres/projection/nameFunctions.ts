import type { ProjectionSchema } from './projectionSchema.js';

/**
 * Returns the functions that find the keys of templates, interfaces and choices by name. They return `NULL` for all,
 * and raise an error for a name that is unknown or ambiguous, because an empty result would be misleading.
 */
export const nameFunctions = ({ schema, templates }: ProjectionSchema): string => `
CREATE OR REPLACE FUNCTION ${schema}.projection_find_templates(name text) RETURNS int[] LANGUAGE plpgsql STABLE AS $body$
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
