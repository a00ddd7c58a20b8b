import { timestampOf } from '../wire/timestampOf.js';
import { trafficCost } from '../wire/trafficCost.js';

/** What a prepare answer says about the cost to come. */
export function estimateCost(size: number): object {
  const [request, response] = [trafficCost(size), 1096];
  return {
    estimationTimestamp: timestampOf(Date.now() * 1000),
    confirmationRequestTrafficCostEstimation: request,
    confirmationResponseTrafficCostEstimation: response,
    totalTrafficCostEstimation: request + response,
  };
}
