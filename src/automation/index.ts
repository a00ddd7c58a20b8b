/**
 * Automation: rules that act on contracts. What there is to do follows from the active contracts, and the ledger commits each
 * action once. Needs no other package than `canton-rx`, and runs in Node.js and in browsers.
 *
 * @module canton-rx/automation
 */

export { automate, type AutomationOptions } from './automate.js';
export type { Action } from '../dispatch/decision.js';
export type { Acted, ActionContext, ActionRequest, Rule, RuleContract } from './Rule.js';
export { isRuleError, RuleError } from './Rule.js';
export type { ActionFailure, Automation, AutomationStatus } from './AutomationStatus.js';
