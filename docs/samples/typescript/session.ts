/** Opens a Checkout session and prints the address of its payment page. */
import { Turnpike } from '@turnpike-pay/client';

const turnpike = new Turnpike({
  url: process.env.TURNPIKE_URL ?? 'http://127.0.0.1:8080',
  merchantKey: process.env.TURNPIKE_MERCHANT_KEY ?? 'YOUR_MERCHANT_KEY',
  password: process.env.TURNPIKE_PASSWORD ?? '',
});
const number = process.argv[2] ?? 'order-1';
const { redirect_url } = await turnpike.checkout.session({
  order: { number, amount: '19.99', currency: 'USD', description: 'Two teapots' },
  success_url: 'https://example.com/thanks',
});
console.log(redirect_url);
