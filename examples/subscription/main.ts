/** A subscription: the payer pays once, the gateway charges every month, and the callbacks say what was paid. */
import { randomUUID } from 'node:crypto';
import { NotFoundError } from '@turnpike-pay/client';
import { connect } from '../connect.ts';
import { button, escapeHtml, page, serve } from '../web.ts';

interface Subscription {
  scheduleId: string;
  isCancelled: boolean;
  /** The charges by order number: the first payment, then `…:1`, `…:2`. */
  charges: Map<string, string>;
}

const subscriptions = new Map<string, Subscription>(); // in your shop: a table
const turnpike = await connect('Tea Club', { hasClock: true });

function row([number, { isCancelled, charges }]: [string, Subscription]): string {
  const paid = [...charges.values()].filter((state) => state === 'SETTLED').length;
  const end = isCancelled ? 'cancelled' : button('/cancel', 'Cancel', number);
  return `<li>${escapeHtml(number)}: ${paid} paid, ${end}</li>`;
}

const address = await serve(
  {
    'GET /': () =>
      page(
        'Tea Club',
        `<div>Tea every month for a year, 9.99 USD ${button('/subscribe', 'Subscribe')}</div>
<ul>${[...subscriptions].map(row).join('')}</ul>`,
      ),

    async 'POST /subscribe'() {
      const number = `club-${randomUUID()}`;
      // One schedule for each member, so that each can cancel.
      const { schedule_id } = await turnpike.s2s.schedules.create({
        name: 'Tea every month',
        interval_length: 1,
        interval_unit: 'month',
        payments_count: 11,
      });
      subscriptions.set(number, { scheduleId: schedule_id, isCancelled: false, charges: new Map() });
      const { redirect_url } = await turnpike.checkout.session({
        order: { number, amount: '9.99', currency: 'USD', description: 'Tea every month' },
        success_url: address,
        methods: ['card'],
        recurring_init: true,
        schedule_id,
      });
      return { location: redirect_url };
    },

    async 'POST /cancel'(fields) {
      const subscription = subscriptions.get(fields.get('order') ?? '');
      if (!subscription || subscription.isCancelled) return { location: '/' };
      try {
        await turnpike.s2s.schedules.delete({ schedule_id: subscription.scheduleId });
      } catch (error) {
        // The answer to an earlier attempt was lost: the schedule is already deleted.
        if (!(error instanceof NotFoundError)) throw error;
      }
      subscription.isCancelled = true;
      return { location: '/' };
    },
  },

  turnpike.callbacks.express(({ orderId, state }) => {
    const [number = ''] = orderId.split(':');
    const subscription = subscriptions.get(number);
    if (!subscription) return;
    subscription.charges.set(orderId, state);
    console.log(`${orderId}: ${state}`);
  }),
);
