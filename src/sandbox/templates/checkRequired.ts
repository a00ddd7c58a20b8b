import type { InterfaceModel } from './TemplateModel.js';

/**
 * Refuses a template that implements an interface without those that it requires, as the compiler of Daml does.
 *
 * @param instances - the instances of the template
 * @param known - instances that say what their interfaces require; those of other templates, too
 */
export function checkRequired(
  templateId: string,
  instances: readonly InterfaceModel[],
  known: readonly InterfaceModel[],
): void {
  const implemented = new Set(instances.map(({ interfaceId }) => interfaceId));
  for (const { interfaceId, requires } of known) {
    const missing = implemented.has(interfaceId) ? requires.find((id) => !implemented.has(id)) : undefined;
    if (missing === undefined) continue;
    const subject = `The template ${templateId} implements ${interfaceId}, which requires ${missing}`;
    throw new TypeError(`${subject}: add an interfaceInstance of ${missing}`);
  }
}
