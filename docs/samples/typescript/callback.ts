/** Verifies a callback; the arguments are its three headers, and the body is read from standard input. */
import { Turnpike } from '@turnpike-pay/client';

const turnpike = new Turnpike({
  url: process.env.TURNPIKE_URL ?? 'http://127.0.0.1:8080',
  callbackSecret: process.env.TURNPIKE_CALLBACK_SECRET,
  password: process.env.TURNPIKE_PASSWORD ?? '',
});
const [id, timestamp, signature] = process.argv.slice(2);
const headers = {
  'content-type': 'application/x-www-form-urlencoded',
  'webhook-id': id,
  'webhook-timestamp': timestamp,
  'webhook-signature': signature,
};
const body = Buffer.concat(await process.stdin.toArray()); // the bytes as they came
try {
  turnpike.callbacks.verify({ headers, body });
  console.log('valid');
} catch {
  console.log('invalid');
  process.exitCode = 1;
}
