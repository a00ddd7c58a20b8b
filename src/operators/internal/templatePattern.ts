import { TemplateId } from '../../codecs/TemplateId.js';

/** A template as an event names it. */
export interface Template {
  /** `package-id:Module:Entity`. */
  readonly templateId: string;
  /** The name of the package. */
  readonly packageName: string;
}

/**
 * The predicate that a pattern stands for: `Module:Entity`, `#package-name:Module:Entity` or `package-id:Module:Entity`.
 *
 * @throws TypeError where the text is none of them
 */
export function templatePattern(pattern: string): (template: Template) => boolean {
  const anyPackage = pattern.split(':').length === 2;
  // Module:Entity is a template id without its package
  if (!TemplateId.is(anyPackage ? `#any:${pattern}` : pattern)) {
    throw new TypeError(
      `'${pattern}' is no template: Module:Entity, #package-name:Module:Entity or package-id:Module:Entity`,
    );
  }
  if (anyPackage) return ({ templateId }) => withoutPackage(templateId) === pattern;
  if (!pattern.startsWith('#')) return ({ templateId }) => templateId === pattern;
  const name = pattern.slice(1, pattern.indexOf(':'));
  const moduleAndEntity = withoutPackage(pattern);
  return ({ templateId, packageName }) => packageName === name && withoutPackage(templateId) === moduleAndEntity;
}

const withoutPackage = (templateId: string): string => templateId.slice(templateId.indexOf(':') + 1);
