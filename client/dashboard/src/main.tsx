import { render } from 'preact';
import { App } from './app';
import './design/tokens.css';
import './design/base.css';

const place = document.getElementById('app');
if (place !== null) render(<App />, place);
