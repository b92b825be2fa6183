/** A small shop: the payer pays on the page of the gateway, and the shop sends the tea when the payment is settled. */
import { randomUUID } from 'node:crypto';
import { connect } from '../connect.ts';
import { button, escapeHtml, page, serve } from '../web.ts';

interface Order {
  state: string;
  /** The number of the last event that the shop knows of. */
  sequence: number;
  paymentId: string;
}

const orders = new Map<string, Order>(); // in your shop: a table
const turnpike = await connect('Tea Shop');

const rows = (): string =>
  [...orders]
    .map(([number, { state }]) => {
      const refund = state === 'SETTLED' ? button('/refund', 'Refund', number) : '';
      return `<li>${escapeHtml(number)}: ${escapeHtml(state)} ${refund}</li>`;
    })
    .join('');

const address = await serve(
  {
    'GET /': () => page('Tea Shop', `<div>Two teapots, 19.99 USD ${button('/buy', 'Buy')}</div><ul>${rows()}</ul>`),

    async 'POST /buy'() {
      const number = `tea-${randomUUID()}`;
      orders.set(number, { state: 'PREPARE', sequence: 0, paymentId: '' });
      const { redirect_url } = await turnpike.checkout.session({
        order: { number, amount: '19.99', currency: 'USD', description: 'Two teapots' },
        success_url: `${address}/thanks?order=${number}`,
        cancel_url: address,
      });
      return { location: redirect_url };
    },

    // Anyone can open this address, and the callback may arrive after the payer: ask the gateway.
    async 'GET /thanks'(fields) {
      const { status } = await turnpike.checkout.status({ order_id: fields.get('order') ?? '' });
      const thanks = status === 'settled' ? 'Thank you! Your tea is on its way.' : 'Your payment is being processed.';
      return page('Tea Shop', `<p>${thanks}</p><p><a href="/">Back to the shop</a></p>`);
    },

    // In your shop, only for people who work there.
    async 'POST /refund'(fields) {
      const order = orders.get(fields.get('order') ?? '');
      if (order) await turnpike.checkout.refund({ payment_id: order.paymentId });
      return { location: '/' };
    },
  },

  turnpike.callbacks.express(({ orderId, paymentId, sequence, state }) => {
    const order = orders.get(orderId);
    // A callback can arrive twice, or after a later one.
    if (!order || sequence <= order.sequence) return;
    if (state === 'SETTLED' && order.state !== 'SETTLED') console.log(`Send the tea of ${orderId}.`);
    Object.assign(order, { paymentId, sequence, state });
  }),
);
