import type { TemplateRef } from '../ledger/TemplateRef.js';
import { ownTemplates } from './ownTemplates.js';
import type { TemplateType } from './TemplateType.js';

/** What is known of a template; of a foreign one, nothing. */
export function typeOfTemplate({ id, packageName }: TemplateRef): TemplateType {
  return ownTemplates.get(packageName + id.slice(id.indexOf(':'))) ?? { fields: {} };
}
