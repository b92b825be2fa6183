/** What a request of each operation carries and what its hash covers; the password always comes last. */
import {
  amount,
  amountOfPayment,
  anyText,
  currency,
  type Field,
  ipAddress,
  may,
  must,
  oneOf,
  orderId,
  text,
  uuid,
  webAddress,
  wholeNumber,
  yesNo,
} from './fields.ts';
import { country } from './formats.ts';
import { LIMITS } from './limits.ts';

export interface Operation {
  fields: readonly Field[];
  /** The fields whose raw values the hash covers, in this order; one that was not sent counts as empty. */
  signs: readonly string[];
  /** It changes nothing and may be repeated at will, as clients that poll do. */
  isRead?: true;
}

const hash = must('hash', anyText);
const transId = must('trans_id', anyText);
const scheduleFields = (need: typeof must): Field[] => [
  need('name', text(1, 100)),
  need('interval_length', wholeNumber(1, 365)),
  need('interval_unit', oneOf(['day', 'week', 'month'])),
  need('payments_count', wholeNumber(1, 1200)),
];
const scheduleExtras = [
  may('day_of_month', wholeNumber(1, 31)),
  may('delays', wholeNumber(0, LIMITS.scheduleDelaysMost)),
];

/** The operations of `/post`, under the names of the parameter `action`. */
export const S2S_OPERATIONS = {
  SALE: {
    fields: [
      // Which brands there are depends on the account, so the sale itself checks the choice.
      must('brand', anyText),
      must('order_id', orderId),
      must('order_amount', amount('order_currency')),
      must('order_currency', currency),
      must('order_description', text(1, LIMITS.descriptionLength)),
      may('identifier', anyText),
      may('payer_first_name', anyText),
      may('payer_last_name', anyText),
      may('payer_address', anyText),
      may('payer_country', country),
      may('payer_state', anyText),
      may('payer_city', anyText),
      may('payer_zip', anyText),
      may('payer_email', anyText),
      may('payer_phone', anyText),
      must('payer_ip', ipAddress),
      must('return_url', webAddress),
      may('term_url_3ds', webAddress),
      may('callback_url', webAddress),
      may('auth', yesNo),
      may('recurring_init', yesNo),
      may('schedule_id', uuid),
      hash,
    ],
    signs: ['identifier', 'order_id', 'order_amount', 'order_currency'],
  },
  GET_TRANS_STATUS: { fields: [transId, hash], signs: ['trans_id'], isRead: true },
  GET_TRANS_STATUS_BY_ORDER: { fields: [must('order_id', orderId), hash], signs: ['order_id'], isRead: true },
  CAPTURE: { fields: [transId, may('amount', amountOfPayment), hash], signs: ['trans_id'] },
  VOID: { fields: [transId, hash], signs: ['trans_id'] },
  CREDITVOID: { fields: [transId, may('amount', amountOfPayment), hash], signs: ['trans_id'] },
  RECURRING_SALE: {
    fields: [
      must('order_id', orderId),
      // Without a currency it is the one of the first payment, which is not known yet.
      must('order_amount', amount('order_currency', amountOfPayment)),
      may('order_currency', currency),
      must('order_description', text(1, LIMITS.descriptionLength)),
      must('recurring_first_trans_id', anyText),
      must('recurring_token', anyText),
      may('schedule_id', uuid),
      may('auth', yesNo),
      may('term_url_3ds', webAddress),
      hash,
    ],
    signs: ['order_id'],
  },
  CREATE_SCHEDULE: {
    fields: [...scheduleFields(must), may('schedule_id', uuid), ...scheduleExtras, hash],
    signs: [],
  },
  UPDATE_SCHEDULE: {
    fields: [must('schedule_id', uuid), ...scheduleFields(may), ...scheduleExtras, hash],
    signs: ['schedule_id'],
  },
  DELETE_SCHEDULE: { fields: [must('schedule_id', uuid), hash], signs: ['schedule_id'] },
} as const satisfies Record<string, Operation>;

export type S2sAction = keyof typeof S2S_OPERATIONS;
