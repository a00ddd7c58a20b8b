import type { ProjectionSchema } from './projectionSchema.js';

/**
 * Functions that find templates by name. They return `NULL` for all, and raise an error for a name that is unknown or
 * ambiguous: an empty result would look like the truth.
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
  SELECT array_agg(t.template_pk) INTO found_pks FROM ${templates} t WHERE t.type_name = name;
  IF found_pks IS NOT NULL THEN
    RETURN found_pks;
  END IF;
  SELECT array_agg(t.template_pk), array_agg(DISTINCT t.template_fqn ORDER BY t.template_fqn)
    INTO found_pks, found_names
    FROM ${templates} t
    WHERE CASE
      WHEN left(name, 1) = '#' THEN t.template_fqn = substr(name, 2)
      ELSE name IN (t.template_fqn, t.module_entity, t.entity, t.template_id)
    END;
  IF cardinality(found_names) > 1 THEN
    RAISE EXCEPTION 'more than one template or interface is called "%"', name USING
      ERRCODE = 'ambiguous_alias',
      HINT = 'Use one of: ' || array_to_string(found_names[1:10], ', ');
  END IF;
  IF found_pks IS NULL THEN
    SELECT array_agg(DISTINCT t.template_fqn ORDER BY t.template_fqn) INTO found_names FROM ${templates} t;
    RAISE EXCEPTION 'no template or interface is called "%"', name USING
      ERRCODE = 'undefined_object',
      HINT = coalesce('Known so far: ' || array_to_string(found_names[1:10], ', '), 'None is known so far.');
  END IF;
  RETURN found_pks;
END $body$;
`;
