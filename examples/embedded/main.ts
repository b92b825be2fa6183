/** A shop with the payment page inside its own page. The shop and the gateway are two origins. */
import { randomUUID } from 'node:crypto';
import { connect } from '../connect.ts';
import { button, escapeHtml, PORT, page, serve } from '../web.ts';

const turnpike = await connect('Embedded Shop', { settings: { frame_ancestors: [`http://127.0.0.1:${PORT}`] } });

/** The frame, and what the shop does when it hears of it. */
const checkout = (url: string): string => `<p>Two teapots, 19.99 USD</p>
<p role="status" id="said"></p>
<div id="pay"></div>
<script src="${escapeHtml(new URL('/embed.js', url).href)}"></script>
<script>
const say = (text) => { document.getElementById('said').textContent = text };
Turnpike.mount('#pay', {
  url: ${JSON.stringify(url).replaceAll('<', '\\u003c')},
  onPaid: ({ url }) => location.assign(url),
  onDeclined: () => say('The payment was declined. You can try again.'),
  onCancelled: ({ url }) => location.assign(url),
});
</script>`;

const address = await serve(
  {
    'GET /': () => page('Embedded Shop', `<div>Two teapots, 19.99 USD ${button('/buy', 'Buy')}</div>`),

    async 'POST /buy'() {
      const number = `tea-${randomUUID()}`;
      const { redirect_url } = await turnpike.checkout.session({
        order: { number, amount: '19.99', currency: 'USD', description: 'Two teapots' },
        success_url: `${address}/thanks?order=${number}`,
        cancel_url: address,
      });
      return page('Embedded Shop', checkout(redirect_url));
    },

    // What the browser says is not a proof: ask the gateway.
    async 'GET /thanks'(fields) {
      const { status } = await turnpike.checkout.status({ order_id: fields.get('order') ?? '' });
      const thanks = status === 'settled' ? 'Thank you! Your tea is on its way.' : 'Your payment is being processed.';
      return page('Embedded Shop', `<p>${thanks}</p><p><a href="/">Back to the shop</a></p>`);
    },
  },

  turnpike.callbacks.express(({ orderId, state }) => console.log(`${orderId}: ${state}`)),
);
