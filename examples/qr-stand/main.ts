/** A coffee stand: it shows a QR code, the guest pays with a banking app, and the screen says when it is paid. */
import { randomUUID } from 'node:crypto';
import encodeQR from 'qr';
import { connect } from '../connect.ts';
import { button, page, serve } from '../web.ts';

/** How long the gateway's code can be scanned. */
const CODE_MS = 60_000;

const codes = new Map<string, { text: string; until: number }>();
const turnpike = await connect('Coffee Stand');
const sell = button('/sell', 'Sell a coffee, 2.50 EUR');

const address = await serve(
  {
    'GET /': () => page('Coffee Stand', sell),

    async 'POST /sell'(_fields, payerAddress) {
      const order = `coffee-${randomUUID()}`;
      const { redirect_params } = await turnpike.s2s.sale({
        brand: 'ips',
        order_id: order,
        order_amount: '2.50',
        order_currency: 'EUR',
        order_description: 'Coffee',
        payer_ip: payerAddress,
        return_url: address,
      });
      const text = Buffer.from(redirect_params?.qr_code ?? '', 'base64').toString();
      codes.set(order, { text, until: Date.now() + CODE_MS });
      return { location: `/sale?order=${order}` };
    },

    async 'GET /sale'(fields) {
      const order = fields.get('order') ?? '';
      // A status query makes the gateway ask the bank, so the screen changes as soon as the guest has paid.
      const { status } = await turnpike.s2s.status({ order_id: order });
      if (status === 'SETTLED') return page('Paid', `<p>Enjoy your coffee!</p>${sell}`);
      if (status !== 'PENDING') return page('Not paid', sell);
      const code = codes.get(order);
      const image = code && code.until > Date.now() ? encodeQR(code.text, 'svg') : '<p>This code has expired.</p>';
      return page('Scan to pay 2.50 EUR', `${image}<div>${sell}</div>`, 2);
    },
  },

  turnpike.callbacks.express(({ orderId, state }) => console.log(`${orderId}: ${state}`)),
);
