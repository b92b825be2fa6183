/** `turnpike listen` beside a server that stays down and a gateway that is started again, as well. */
import './listen.test.ts';
