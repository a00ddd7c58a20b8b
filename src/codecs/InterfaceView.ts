import type * as t from 'io-ts';
import { Int64 } from './Int64.js';
import { json } from './internal/json.js';
import { message } from './internal/message.js';
import { optional } from './internal/optional.js';
import { text } from './internal/text.js';

/** Whether an interface view could be computed. */
export interface ViewStatus {
  /** A gRPC status code; 0 is success. */
  readonly code: Int64;
  /** What went wrong, for people. */
  readonly message?: string;
}

/** A contract as one of the interfaces that its template implements shows it. */
export interface InterfaceView {
  /** `package-id:Module:Entity` of the interface. */
  readonly interfaceId: string;
  /** A code other than 0 says that the view failed: `viewValue` is absent then. */
  readonly viewStatus: ViewStatus;
  /** The view as Daml JSON. */
  readonly viewValue?: unknown;
  /** The package that computed the view. Since 3.5. */
  readonly implementationPackageId?: string;
}

const ViewStatus = message<ViewStatus>('ViewStatus', { code: Int64, message: optional(text) });

/** Codec of `InterfaceView`. */
export const InterfaceView: t.Type<InterfaceView, unknown> = message<InterfaceView>('InterfaceView', {
  interfaceId: text,
  viewStatus: ViewStatus,
  viewValue: optional(json),
  implementationPackageId: optional(text),
});
