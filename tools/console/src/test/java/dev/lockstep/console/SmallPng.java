package dev.lockstep.console;

import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import javax.imageio.ImageIO;

/** Makes a screenshot half as large: with the 256 colours that show most of it. */
final class SmallPng {
    private static final int FREQUENT = 200;
    private static final int MOST = 256;
    private static final int ENOUGH = 8;

    private SmallPng() {}

    static void shrink(Path file) throws IOException {
        BufferedImage from = ImageIO.read(file.toFile());
        int[] colors = colors(from);
        byte[][] parts = new byte[3][colors.length];
        for (int i = 0; i < colors.length; i++) {
            for (int part = 0; part < 3; part++) {
                parts[part][i] = (byte) (colors[i] >> (16 - 8 * part));
            }
        }
        IndexColorModel model = new IndexColorModel(8, colors.length, parts[0], parts[1], parts[2]);
        BufferedImage to = new BufferedImage(from.getWidth(), from.getHeight(), BufferedImage.TYPE_BYTE_INDEXED, model);
        Map<Integer, Integer> nearest = new HashMap<>();
        for (int y = 0; y < from.getHeight(); y++) {
            for (int x = 0; x < from.getWidth(); x++) {
                int index = nearest.computeIfAbsent(color(from, x, y), color -> nearest(colors, color));
                to.getRaster().setSample(x, y, 0, index);
            }
        }
        ImageIO.write(to, "png", file.toFile());
    }

    private static int color(BufferedImage image, int x, int y) {
        return image.getRGB(x, y) & 0xffffff;
    }

    /** The most frequent ones, and then those that are most unlike all others: a small dot keeps its colour. */
    private static int[] colors(BufferedImage image) {
        Map<Integer, Integer> counts = new HashMap<>();
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                counts.merge(color(image, x, y), 1, Integer::sum);
            }
        }
        Set<Integer> chosen = new LinkedHashSet<>();
        counts.entrySet().stream()
                .sorted(Map.Entry.<Integer, Integer>comparingByValue().reversed())
                .limit(FREQUENT)
                .forEach(entry -> chosen.add(entry.getKey()));
        Map<Integer, Integer> distances = new HashMap<>();
        counts.forEach((color, count) -> {
            if (count >= ENOUGH && !chosen.contains(color)) {
                distances.put(
                        color,
                        chosen.stream()
                                .mapToInt(other -> distance(color, other))
                                .min()
                                .orElseThrow());
            }
        });
        while (chosen.size() < MOST) {
            Optional<Integer> next = distances.entrySet().stream()
                    .max(Comparator.comparingInt(Map.Entry::getValue))
                    .map(Map.Entry::getKey);
            if (next.isEmpty()) {
                break;
            }
            chosen.add(next.get());
            distances.remove(next.get());
            distances.replaceAll((color, distance) -> Math.min(distance, distance(color, next.get())));
        }
        return chosen.stream().mapToInt(Integer::intValue).toArray();
    }

    private static int nearest(int[] colors, int color) {
        int best = 0;
        for (int i = 1; i < colors.length; i++) {
            if (distance(colors[i], color) < distance(colors[best], color)) {
                best = i;
            }
        }
        return best;
    }

    private static int distance(int one, int other) {
        int sum = 0;
        for (int shift = 0; shift < 24; shift += 8) {
            int difference = (one >> shift & 255) - (other >> shift & 255);
            sum += difference * difference;
        }
        return sum;
    }
}
