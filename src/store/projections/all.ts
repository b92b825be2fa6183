/** The list of projections. */
import { callbackLog } from '../callbacks/log-projection.ts';
import { ledger } from '../ledger/projection.ts';
import { paymentSearch } from '../payments/search-projection.ts';
import { declineClasses, reports } from '../reports/projection.ts';
import type { Projection } from './projection.ts';

export const PROJECTIONS: readonly Projection[] = [reports, declineClasses, paymentSearch, callbackLog, ledger];
