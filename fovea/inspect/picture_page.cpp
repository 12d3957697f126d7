// The attention over a picture (patches of an image, moments of a sound, boxes that were found) as
// one self-contained page: weights lie over the picture as colour, for any head, for the mean of
// heads and for the rollout through all layers.
#include <algorithm>
#include <cmath>

#include "fovea/base/html.h"
#include "fovea/inspect/attention_view.h"
#include "fovea/text/base64.h"

namespace fovea {
namespace {

constexpr const char* picture_page_style = R"(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Fovea: attention over a picture</title><meta name="generator" content="fovea inspect">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<style>
:root{--ink:#1b1f24;--soft:#5d646d;--paper:#fbfaf7;--card:#fff;--line:#e4e0d7;--hot:20,82,150;--mark:#c2410c;color-scheme:light}
:root.dark{--ink:#e8e6e1;--soft:#9aa1aa;--paper:#15171a;--card:#1d2024;--line:#2e3237;--hot:126,190,255;--mark:#fb923c;color-scheme:dark}
*{box-sizing:border-box}[hidden]{display:none!important}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);margin:0 auto;max-width:84rem;padding:1.5rem 1.25rem}
header{display:flex;justify-content:space-between;align-items:baseline}h1{font-size:1.25rem;margin:0}
.example span,.pick span,footer,.value{color:var(--soft)}
.pick{display:flex;gap:.25rem;flex-wrap:wrap;align-items:center;margin:.5rem 0}.pick span{min-width:4.5rem}
button,select{font:inherit;font-size:.9rem;color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:.4rem;padding:.3rem .6rem;cursor:pointer}
button[aria-pressed=true]{background:rgb(var(--hot));color:var(--paper)}
button:focus-visible,canvas:focus-visible{outline:2px solid var(--mark);outline-offset:1px}
canvas{display:block;max-width:100%;border:1px solid var(--line);border-radius:.3rem;cursor:crosshair}
.value{min-height:1.5em;font-variant-numeric:tabular-nums}.value b{color:var(--ink)}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1rem;font-size:.9rem}.legend i{display:inline-block;width:1em;height:.6em;margin-right:.35em}
footer{font-size:.85rem;margin-top:1rem;max-width:60rem}
</style></head><body>
<header><h1>Where the model looks</h1><button id="theme" type="button">dark</button></header>
<p class="example"><span>input</span> <b id="input"></b> &nbsp; <span>output</span> <b id="output"></b></p>
<div class="pick" id="parts" role="group" aria-label="attention"><span>attention</span></div>
<div class="pick" id="layers" role="group" aria-label="layer"><span>layer</span></div>
<div class="pick" id="heads" role="group" aria-label="head"><span>head</span></div>
<div class="pick" id="queries" role="group" aria-label="who looks"><span>who looks</span></div>
<canvas id="view" tabindex="0" role="img" aria-label="the picture under the weights"></canvas>
<p class="value" id="value">click the picture: that part looks; point at it to read a weight</p>
<canvas id="tracks" hidden role="img" aria-label="probabilities over time"></canvas><div class="legend" id="legend"></div>
<footer>Weights of a row sum to 1; the strongest colour is that of the largest weight shown, none that of the smallest. Rollout multiplies the layers' mean weights, half of each the row itself
(Abnar and Zuidema 2020). Attention shows where a model reads, not why it answers.</footer>
<script type="application/json" id="data">)";

constexpr const char* picture_page_script = R"(</script>
<script>
const $=id=>document.getElementById(id),data=JSON.parse($('data').textContent),seen=data.seen;
const make=(tag,text)=>{const e=document.createElement(tag);if(text!=null)e.textContent=text;return e;};
$('input').textContent=data.input;$('output').textContent=data.output;
const cells=seen.height*seen.width,onPicture=side=>side===seen.side||side in seen.places;
// Which token of a side lies on a cell, and which of its tokens lie on none.
const tokenOf=(side,cell)=>side in seen.places?seen.places[side][cell]:seen.first+cell;
const cellOf=(side,token)=>side in seen.places?seen.places[side].indexOf(token):token-seen.first;
const offPicture=side=>{const on=new Set(seen.places[side]??[]);return data.sides[side].map((n,i)=>[n,i]).filter(([,i])=>side in seen.places?!on.has(i):i<seen.first);};
const maps=data.maps.filter(m=>onPicture(m.keys));
for(const m of maps)m.weights=m.bytes.map((b,h)=>{const raw=atob(b),w=new Float32Array(raw.length),top=m.tops[h];
  for(let i=0;i<raw.length;i++){const v=raw.charCodeAt(i)/255;w[i]=v*v*top;}return w;});
const parts=[...new Set(maps.map(m=>m.part))];
let part=seen.boxSide?parts.at(-1):parts[0],layer=null,head=-1,query=0,rolled={};
const ofPart=()=>maps.filter(m=>m.part===part);
const map=()=>ofPart().find(m=>m.layer===layer)??ofPart().at(-1);
function mean(m){const out=new Float32Array(m.rows*m.cols);for(const w of m.weights)for(let i=0;i<out.length;i++)out[i]+=w[i]/m.weights.length;return out;}
// Through layers of one kind alone: not where attention through time and within frames take turns.
const oneKind=new Set(maps.filter(m=>m.queries===m.keys).map(m=>m.keys)).size<2;
const canRoll=()=>oneKind&&ofPart().length>1&&ofPart().every(m=>m.queries===m.keys&&m.rows===m.cols);
function rollout(){
  if(rolled[part])return rolled[part];
  const n=ofPart()[0].rows;let all=null;
  for(const m of ofPart()){
    const a=mean(m);for(let r=0;r<n;r++){let s=0;for(let c=0;c<n;c++)s+=a[r*n+c];for(let c=0;c<n;c++)a[r*n+c]=.5*a[r*n+c]/(s||1)+(r===c?.5:0);}
    if(!all){all=a;continue;}
    const next=new Float32Array(n*n);
    for(let r=0;r<n;r++)for(let k=0;k<n;k++){const v=a[r*n+k];if(v>1e-7)for(let c=0;c<n;c++)next[r*n+c]+=v*all[k*n+c];}
    all=next;}
  return rolled[part]=all;
}
function row(){const m=map(),all=head===-2?rollout():head<0?mean(m):m.weights[Math.min(head,m.weights.length-1)];
  return Float32Array.from({length:cells},(_,i)=>all[query*m.cols+tokenOf(m.keys,i)]);}
function buttons(where,list,value,set){
  $(where).querySelectorAll('button,select').forEach(b=>b.remove());$(where).hidden=list.length<2;
  for(const [name,v] of list){const b=make('button',name);b.type='button';b.setAttribute('aria-pressed',String(v===value));b.onclick=()=>{set(v);draw();};$(where).append(b);}
}
function pickQuery(){
  const m=map(),names=data.sides[m.queries],where=$('queries'),others=onPicture(m.queries)?offPicture(m.queries):names.map((n,i)=>[n,i]);
  where.querySelectorAll('button,select').forEach(b=>b.remove());
  others.filter(([n])=>n!=='-').slice(0,40).forEach(([n,i])=>{const b=make('button',n);b.type='button';b.setAttribute('aria-pressed',String(i===query));b.onclick=()=>{query=i;draw();};where.append(b);});
  if(!others.some(([,i])=>i===query))where.append(make('button',names[query]));
}
const view=$('view'),pen=view.getContext('2d'),image=new Image();
function size(){const k=seen.height>1?Math.min((image.width>3*image.height?1280:640)/image.width,640/image.height):960/image.width;
  view.width=Math.round(image.width*k);view.height=Math.round(seen.height>1?image.height*k:Math.max(160,image.height*2));}
const heat=v=>seen.height>1?`rgba(255,${Math.round(210-150*v)},30,${(.8*v).toFixed(3)})`:`rgba(60,230,255,${(.75*v).toFixed(3)})`;
function draw(){
  const layers=ofPart().map(m=>m.layer);if(!layers.includes(layer))layer=layers.at(-1);
  if(head===-2&&!canRoll())head=-1;
  if(query>=map().rows)query=0;
  if(data.sides[map().queries][query]==='-')query=Math.max(0,data.sides[map().queries].findIndex(n=>n!=='-'));
  buttons('parts',parts.map(p=>[p||'self-attention',p]),part,v=>{part=v;query=0;});
  buttons('layers',layers.map(l=>[l,l]),layer,v=>layer=v);
  const hs=[['mean',-1],...map().heads.map((h,i)=>[h,i])];if(canRoll())hs.push(['rollout',-2]);
  buttons('heads',hs,head,v=>head=v);pickQuery();
  size();pen.imageSmoothingEnabled=seen.height===1;pen.drawImage(image,0,0,view.width,view.height);
  const w=row(),top=Math.max(...w),low=Math.min(...w),range=Math.max(top-low,1e-9),dx=view.width/seen.width,dy=view.height/seen.height;
  for(let y=0;y<seen.height;y++)for(let x=0;x<seen.width;x++){
    const left=Math.round(x*dx),up=Math.round(y*dy);pen.fillStyle=heat((w[y*seen.width+x]-low)/range);pen.fillRect(left,up,Math.round((x+1)*dx)-left,Math.round((y+1)*dy)-up);}
  const m=map();pen.lineWidth=2;
  const at=onPicture(m.queries)?cellOf(m.queries,query):-1;
  if(at>=0){pen.strokeStyle='#00e5ff';pen.strokeRect((at%seen.width)*dx,Math.floor(at/seen.width)*dy,dx,dy);}
  (seen.boxes||[]).forEach((b,i)=>{if(!b[2])return;pen.strokeStyle=m.queries===seen.boxSide&&i===query?'#00e5ff':'rgba(255,255,255,.55)';pen.strokeRect(b[0]*view.width,b[1]*view.height,b[2]*view.width,b[3]*view.height);});
}
function place(e){const r=view.getBoundingClientRect(),x=(e.clientX-r.left)/r.width,y=(e.clientY-r.top)/r.height;
  return {x,y,at:Math.min(seen.height-1,Math.floor(y*seen.height))*seen.width+Math.min(seen.width-1,Math.floor(x*seen.width))};}
view.onclick=e=>{const p=place(e),m=map();
  if(onPicture(m.queries))query=tokenOf(m.queries,p.at);
  else if(m.queries===seen.boxSide){const hit=seen.boxes.map((b,i)=>[b[2]*b[3],i,b]).filter(([,,b])=>p.x>=b[0]&&p.x<=b[0]+b[2]&&p.y>=b[1]&&p.y<=b[1]+b[3]).sort((a,b)=>a[0]-b[0])[0];if(hit)query=hit[1];}
  draw();};
view.onmousemove=e=>{const p=place(e),m=map();
  $('value').replaceChildren(make('b',data.sides[m.queries][query]),' looks at ',make('b',data.sides[m.keys][tokenOf(m.keys,p.at)]),': ',make('b',row()[p.at].toFixed(4)));};
function tracks(){
  if(!seen.tracks.length)return;
  const c=$('tracks'),t=c.getContext('2d'),n=seen.width;c.hidden=false;c.width=960;c.height=180;
  seen.tracks.forEach((track,i)=>{
    const colour=track.name==='blank'?'#9aa1aa':`hsl(${(i*67)%360} 70% 45%)`;
    t.strokeStyle=colour;t.lineWidth=track.name==='blank'?1:2;t.beginPath();
    track.values.forEach((v,x)=>t.lineTo((x+.5)*c.width/n,c.height-4-v*(c.height-8)));t.stroke();
    const e=make('span'),mark=make('i');mark.style.background=colour;e.append(mark,track.name===' '?'(space)':track.name);$('legend').append(e);});
}
const root=document.documentElement,dark=on=>{root.classList.toggle('dark',on);$('theme').textContent=on?'light':'dark';};
dark(matchMedia('(prefers-color-scheme: dark)').matches||location.hash==='#dark');
$('theme').onclick=()=>dark(!root.classList.contains('dark'));
image.onload=()=>{if(location.hash.includes('rollout'))head=-2;draw();tracks();};image.src='data:image/png;base64,'+seen.png;
</script></body></html>
)";

// √(w / top) in a byte: small weights keep their differences.
std::string weight_bytes(const HeadMap& map, float top) {
    std::string bytes;
    for (const std::vector<float>& row : map)
        for (const float w : row)
            bytes +=
                static_cast<char>(std::lround(255 * std::sqrt(std::clamp(w / top, 0.0f, 1.0f))));
    return text::encode_base64(bytes);
}

Json map_json(const AttentionMap& m) {
    const std::size_t comma = m.title.rfind(", layer");
    Json j{{"title", m.title},
           {"part", m.title.substr(0, comma)},
           {"layer", m.layer},
           {"queries", m.queries},
           {"keys", m.keys},
           {"heads", m.heads},
           {"rows", m.weight[0].size()},
           {"cols", m.weight[0].empty() ? 0 : m.weight[0][0].size()},
           {"tops", Json::array()},
           {"bytes", Json::array()}};
    for (const HeadMap& head : m.weight) {
        float top = 1e-9f;
        for (const std::vector<float>& row : head)
            for (const float w : row) top = std::max(top, w);
        j["tops"].push_back(top);
        j["bytes"].push_back(weight_bytes(head, top));
    }
    return j;
}

Json seen_json(const SeenPicture& seen) {
    Json j{{"png", text::encode_base64(seen.png)},
           {"side", seen.side},
           {"first", seen.first},
           {"height", seen.height},
           {"width", seen.width},
           {"places", seen.places},
           {"boxSide", seen.box_side},
           {"boxes", seen.boxes},
           {"tracks", Json::array()}};
    for (const SeenPicture::Track& t : seen.tracks)
        j["tracks"].push_back({{"name", t.name}, {"values", t.values}});
    return j;
}

}  // namespace

std::string picture_page(const AttentionView& view) {
    Json data{{"input", view.input},
              {"output", view.output},
              {"sides", view.sides},
              {"seen", seen_json(*view.seen)},
              {"maps", Json::array()}};
    for (const AttentionMap& m : view.maps) data["maps"].push_back(map_json(m));
    return picture_page_style + json_in_page(to_text(data)) + picture_page_script;
}

}  // namespace fovea
